/** The address of a database for people: without the user, the password and the parameters. */
export function placeOf(url: string): string {
  if (!URL.canParse(url)) return 'the database of store.url';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
