// The timeline room: what facts say of runs and calls, worked out. Reads and writes nothing.
