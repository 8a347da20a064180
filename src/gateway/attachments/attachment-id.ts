/** Returns an id that can name a file; throws for any other text. */
export function requireId(id: string): string {
  if (!/^[\w-]{1,128}$/.test(id)) throw new Error('not an attachment id');
  return id;
}
