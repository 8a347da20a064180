import { readFile, realpath } from 'node:fs/promises';

/** User id of the first person on Linux; lower ids belong to the system. */
const FIRST_PERSON = 1_000;
const NOBODY = 65_534;

/** Real paths of the home folders of all people on this machine except the user `uid`. Empty if accounts are kept elsewhere. */
export async function readOtherHomes(uid: number | undefined, file = '/etc/passwd'): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const homes = text.split('\n').flatMap((line) => {
    const [, , id = '', , , home = ''] = line.split(':');
    const isPerson = /^\d+$/.test(id) && Number(id) >= FIRST_PERSON && Number(id) < NOBODY && Number(id) !== uid;
    return isPerson && /^\/[^/]+\/./.test(home) ? [home] : []; // not `/`, nor a folder of the system such as /var
  });
  return Promise.all(homes.map((home) => realpath(home).catch(() => home)));
}
