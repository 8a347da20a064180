/** What is known of a script after it was read once. */
export interface Doubts {
  /** Loops and functions may run in any folder, because a command changes it. */
  folderVaries: boolean;
  /** The rest of a line may be skipped, and with it a change of the folder. */
  mayEndLine: boolean;
}
