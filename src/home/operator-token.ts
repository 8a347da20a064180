import { link, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Ids } from '../ids.ts';
import { hasCode, readPrivateFile } from './private-file.ts';

const TOKEN = /^svc_[0-9a-f]{64}$/;

/** The operator token, created at the first start. A malformed or unsafe file is refused. */
export async function openOperatorToken(home: string, ids: Pick<Ids, 'secret'>): Promise<string> {
  const existing = await findOperatorToken(home);
  if (existing !== undefined) return existing;
  await writeOnce(
    { path: tokenPath(home), temporary: join(home, `token.${ids.secret(8)}.tmp`) },
    `svc_${ids.secret(32)}\n`,
  );
  // Read the file again: another process may have created it first.
  const token = await findOperatorToken(home);
  if (token === undefined) throw new Error(`${tokenPath(home)} disappeared while it was created`);
  return token;
}

/** The token, if the daemon has ever been started in this home. */
export async function findOperatorToken(home: string): Promise<string | undefined> {
  const text = (await readPrivateFile(tokenPath(home)))?.trim();
  if (text !== undefined && !isOperatorToken(text)) {
    throw new Error(`${tokenPath(home)} does not hold a token; move it away and start again to get a new one`);
  }
  return text;
}

/** Whether a text, without spaces around it, is an operator token. */
export const isOperatorToken = (text: string): boolean => TOKEN.test(text);

/** The file of the token. */
export const tokenPath = (home: string) => join(home, 'token');

/** Never leaves a half-written file under the name, and never replaces one. */
async function writeOnce({ path, temporary }: { path: string; temporary: string }, text: string): Promise<void> {
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600, flush: true });
    await link(temporary, path);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error; // another process was first
  } finally {
    await rm(temporary, { force: true });
  }
}
