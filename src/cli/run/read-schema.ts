import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { isRecord } from '../../../protocol/is-record.ts';
import { whyUnreadable } from '../../home/why-unreadable.ts';
import { UsageError } from '../../start-error.ts';

/** Reads the JSON Schema of `--schema`. Whether it is a valid schema, the daemon finds out. */
export async function readSchema(name: string, { cwd }: { cwd: string }): Promise<Record<string, unknown>> {
  const text = await readFile(path.resolve(cwd, name), 'utf8').catch((cause: unknown) => {
    throw new UsageError(`The schema ${name} cannot be read: ${whyUnreadable(cause)}`, { cause });
  });
  try {
    const schema: unknown = JSON.parse(text);
    if (isRecord(schema)) return schema;
  } catch {
    // reported below
  }
  throw new UsageError(`The schema ${name} must be a JSON object, for example {"type": "object"}.`);
}
