import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS } from '../../../src/gateway/store/schema/migrations.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The version of the program, and of its tables. */
export const NEXT = { version: '9.9.9', schema: MIGRATIONS.length + 1 };

/** Installs a later release, whose tables differ from ours (`fixtures/next-release.ts`). Returns the file to run. */
export async function installNextRelease(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-next-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version: NEXT.version }));
  for (const name of ['dist', 'protocol', 'node_modules'])
    await symlink(path.join(ROOT, name), path.join(folder, name));
  const file = path.join(folder, 'next.ts');
  const code = path.join(ROOT, 'e2e/support/fixtures/next-release.ts');
  await writeFile(file, `await import(${JSON.stringify(code)});\n`);
  return file;
}
