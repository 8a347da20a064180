import { createHash } from 'node:crypto';
import { isRecord } from '../../../protocol/is-record.ts';
import { toVisibleText } from '../../../protocol/text/visible-text.ts';
import { toCanonicalJson } from '../../canonical-json.ts';

/** A tool as a server describes it, within the limits. */
export interface AnnouncedTool {
  /** As the server calls it. */
  name: string;
  description: string;
  /** A JSON Schema of the type `object`. */
  inputSchema: Record<string, unknown>;
  /** Changes with everything that a model reads of it. */
  digest: string;
}

interface ReadTools {
  tools: AnnouncedTool[];
  /** What was left out, and why; for people. */
  problems: string[];
}

/** How many tools of a server are used. */
export const MOST_TOOLS = 500;
const MOST_NAME = 256;
const MOST_DESCRIPTION = 4_096;
const MOST_SCHEMA_BYTES = 32 * 1024;
const MOST_LEVELS = 24;
const MOST_PARTS = 4_000;
const MOST_PROBLEMS = 20;

/** Reads what a server calls its tools. One that nobody could use is left out; the others stay. */
export function readTools(announced: readonly unknown[]): ReadTools {
  const tools = new Map<string, AnnouncedTool>();
  const problems: string[] = [];
  const note = (problem: string) => {
    if (problems.length < MOST_PROBLEMS) problems.push(problem);
  };
  for (const [index, one] of announced.entries()) {
    if (tools.size >= MOST_TOOLS) {
      note(`only the first ${MOST_TOOLS} of ${announced.length} tools are used`);
      break;
    }
    const read = readTool(one);
    const at = `tool ${index + 1}`;
    if (typeof read === 'string') note(`${at}: ${read}`);
    else if (tools.has(read.name)) note(`${at}: the name ${toShown(read.name)} was used before`);
    else tools.set(read.name, read);
  }
  return { tools: [...tools.values()], problems };
}

function readTool(one: unknown): AnnouncedTool | string {
  if (!isRecord(one) || typeof one.name !== 'string' || one.name === '') return 'it has no name';
  const { name, description = '', inputSchema = { type: 'object' } } = one;
  if (name.length > MOST_NAME) return `its name is longer than ${MOST_NAME} characters`;
  if (typeof description !== 'string') return `the description of ${toShown(name)} is no text`;
  const problem = problemOf(inputSchema);
  if (problem !== undefined || !isRecord(inputSchema)) return `the arguments of ${toShown(name)} ${problem}`;
  const schema = { ...inputSchema, type: 'object' };
  const digest = createHash('sha256').update(toCanonicalJson({ description, schema })).digest('hex');
  const shown = toVisibleText(description);
  const cut = shown.length > MOST_DESCRIPTION ? `${shown.slice(0, MOST_DESCRIPTION)}…` : shown;
  return { name, description: cut, inputSchema: schema, digest };
}

/** Why a schema is not used. A model would read it in every request. */
function problemOf(schema: unknown): string | undefined {
  if (!isRecord(schema)) return 'are not described by a JSON Schema';
  if (schema.type !== undefined && schema.type !== 'object') return 'are not described as an object';
  // First, because the next step takes as many calls as it has levels.
  if (!isWithin(schema)) return `are described with more than ${MOST_LEVELS} levels or ${MOST_PARTS} parts`;
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  return bytes > MOST_SCHEMA_BYTES ? `are described with ${bytes} bytes, more than ${MOST_SCHEMA_BYTES}` : undefined;
}

function isWithin(schema: unknown): boolean {
  let parts = 0;
  let level: unknown[] = [schema];
  for (let levels = 0; level.length > 0; levels += 1) {
    parts += level.length;
    if (levels > MOST_LEVELS || parts > MOST_PARTS) return false;
    level = level.flatMap((part) => (typeof part === 'object' && part !== null ? Object.values(part) : []));
  }
  return true;
}

const toShown = (name: string): string => JSON.stringify(toVisibleText(name.slice(0, 80)));
