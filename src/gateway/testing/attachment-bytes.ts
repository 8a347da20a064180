import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { hasCode } from '../../home/private-file.ts';
import type { WholeGateway } from './whole-gateway.ts';

type Place = Pick<WholeGateway, 'store' | 'dir'>;

const folderIn = (dir: string): string => join(dir, 'attachments');

/** The ids of the files that are stored, in the home or in the database. */
export async function storedFiles({ store, dir }: Place): Promise<string[]> {
  if (store.files === undefined)
    return readdir(folderIn(dir)).catch((error: unknown) => (hasCode(error, 'ENOENT') ? [] : Promise.reject(error)));
  const { rows } = await sql<{ file_id: string }>`select file_id from stored_files order by file_id`.execute(store.db);
  return rows.map(({ file_id }) => file_id);
}

/** Removes the bytes of a file, and not its row. */
export const loseFile = async ({ store, dir }: Place, id: string): Promise<void> =>
  store.files ? store.files.attachments.remove(id) : rm(join(folderIn(dir), id));
