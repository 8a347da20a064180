// Puts a finished build in place, while daemons may read the earlier one.
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

const HOUR_MS = 3_600_000;

/** Moves all files of the folder `from` into `to`, in an order in which each file names only files that are there. */
export async function moveInto(from, to) {
  const files = (await readdir(from, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const names = files.map((entry) => path.relative(from, path.join(entry.parentPath, entry.name)));
  // What names the others comes last.
  for (const name of names.sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
    await mkdir(path.dirname(path.join(to, name)), { recursive: true });
    await rename(path.join(from, name), path.join(to, name));
  }
  for (const [entry, folders] of Object.entries(FOLDERS))
    if (names.includes(entry)) for (const folder of folders) await sweep(folder, { entry, to, names });
}

/** The folders whose files these name. */
const FOLDERS = { 'main.js': ['chunks', 'daemon'], 'ui/site.json': ['ui/site'] };

/** The files that name others. */
const isEntry = (name) => name === 'ui/index.html' || Object.hasOwn(FOLDERS, name);

/** Keeps old files for an hour, because a daemon that runs the previous build may still load them. */
async function sweep(folder, { entry, to, names }) {
  const builtMs = (await stat(path.join(to, entry))).mtimeMs;
  for (const name of await readdir(path.join(to, folder))) {
    const chunk = path.join(folder, name);
    const found = await stat(path.join(to, chunk)).catch((error) => {
      if (error.code !== 'ENOENT') throw error; // another build has removed it
    });
    const isOld = found !== undefined && builtMs - found.mtimeMs > HOUR_MS;
    if (isOld && !names.includes(chunk)) await rm(path.join(to, chunk), { force: true });
  }
}
