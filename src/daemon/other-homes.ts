import { readFile, realpath } from 'node:fs/promises';

/** Of the first person on Linux; the users below it belong to the system. */
const FIRST_PERSON = 1_000;
const NOBODY = 65_534;

/** Home folders of the people on this machine, but for the user `uid`, by their real paths. Where accounts are kept elsewhere: none. */
export async function readOtherHomes(uid: number | undefined, file = '/etc/passwd'): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const homes = text.split('\n').flatMap((line) => {
    const [, , id = '', , , home = ''] = line.split(':');
    const isPerson = /^\d+$/.test(id) && Number(id) >= FIRST_PERSON && Number(id) < NOBODY && Number(id) !== uid;
    return isPerson && /^\/[^/]+\/./.test(home) ? [home] : []; // not `/`, nor a folder of the system such as /var
  });
  return Promise.all(homes.map((home) => realpath(home).catch(() => home)));
}
