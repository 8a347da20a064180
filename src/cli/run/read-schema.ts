import { isRecord } from '../../../protocol/is-record.ts';
import { LIMITS } from '../../../protocol/limits.ts';
import { UsageError } from '../../start-error.ts';
import { readFileAt } from '../input/read-input.ts';

/** Reads the JSON Schema of `--schema`. Whether it is a valid schema, the daemon finds out. */
export async function readSchema(name: string, { cwd }: { cwd: string }): Promise<Record<string, unknown>> {
  const text = await readFileAt(name, { cwd, maxBytes: LIMITS.maxPayloadBytes, shown: `The schema ${name}` });
  try {
    const schema: unknown = JSON.parse(text);
    if (isRecord(schema)) return schema;
  } catch {
    // reported below
  }
  throw new UsageError(`The schema ${name} must be a JSON object, for example {"type": "object"}.`);
}
