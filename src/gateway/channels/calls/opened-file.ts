/** A download that has begun. Its bytes throw the error of its service. */
export interface OpenedFile {
  /** As announced by the server. */
  size: number | undefined;
  bytes: AsyncIterable<Uint8Array>;
}
