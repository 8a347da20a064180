import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

/** The names in the first column of the tables under a heading of PROTOCOL.md. */
export async function namesUnder(heading: string): Promise<Set<string>> {
  const text = await readFile(new URL('../../PROTOCOL.md', import.meta.url), 'utf8');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? assert.fail(heading);
  return new Set([...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name ?? ''));
}
