/** Whether a text is an id that can name a file. */
export const isId = (text: string): boolean => /^[\w-]{1,128}$/.test(text);

/** Returns an id that can name a file; throws for any other text. */
export function requireId(id: string): string {
  if (!isId(id)) throw new Error('not an attachment id');
  return id;
}
