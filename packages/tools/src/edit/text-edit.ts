// One edit as the model gives it (EDIT-1): the text to find and the text to put in its place.

export interface TextEdit {
  old: string;
  new: string;
  /** Every place instead of the only one. */
  replace_all?: boolean;
}
