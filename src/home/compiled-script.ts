import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, getCompileCacheDir } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** What the modules of the script export, by their names. The build writes modules that read it (scripts/link-script.js). */
export const modules: Record<string, unknown> = {};

/**
 * Runs a script of the build, with the compiled code that an earlier process kept in Node's compile cache, if that is in use.
 * `later` imports what the script loads later. `keepCode` keeps the code of the script, with all functions that have been called
 * until then; V8 refuses it later if it has other options then.
 */
export function runScript(
  url: URL,
  later: (name: string) => Promise<unknown>,
): { modules: typeof modules; keepCode(): void } {
  const file = fileURLToPath(url);
  const folder = getCompileCacheDir();
  const kept = folder === undefined ? undefined : path.join(folder, path.basename(file, '.cjs'));
  const cachedData = kept === undefined ? undefined : readWhole(kept);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    ...(cachedData && { cachedData }),
  });
  script.runInThisContext()(createRequire(url), modules, url.href, later);
  const isFresh = cachedData === undefined || script.cachedDataRejected === true;
  return { modules, keepCode: () => kept !== undefined && isFresh && keep(script, kept) };
}

/** The bytes of the checksum at the end. V8 checks little itself, and runs what it gets. */
const CHECKSUM_BYTES = 4;

/** Undefined if the file is missing or damaged. */
function readWhole(file: string): Buffer | undefined {
  try {
    const bytes = readFileSync(file);
    const end = bytes.length - CHECKSUM_BYTES;
    const code = bytes.subarray(0, end);
    return bytes.readUInt32LE(end) === crc32(code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function keep(script: Script, file: string): void {
  try {
    const code = script.createCachedData();
    const checksum = Buffer.alloc(CHECKSUM_BYTES);
    checksum.writeUInt32LE(crc32(code));
    const aside = `${file}.${process.pid}.tmp`;
    writeFileSync(aside, Buffer.concat([code, checksum]), { mode: 0o600, flag: 'wx' });
    renameSync(aside, file);
  } catch {
    // The next start compiles again.
  }
}
