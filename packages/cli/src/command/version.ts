// The version of the program, kept equal to that of its package by a test: reading the file would cost time.

export const VERSION = "0.1.0";
