import { isRecord } from '../../../protocol/is-record.ts';
import { wordsOf } from '../../../protocol/words-of.ts';

/** The fields at the beginning of a SKILL.md, or why there are none. */
export type FrontMatter = { fields: Record<string, unknown>; body: string } | { problem: string };

/** Aliases let a short text stand for billions of values. Real front matter has a dozen. */
const MOST_VALUES = 2_000;
/** Longer front matter is not parsed. */
const MOST_CHARS = 64 * 1024;

/** Reads a SKILL.md whose fields stand between two lines of three hyphens. */
export const readFrontMatter = (text: string): Promise<FrontMatter> => {
  const [, head, body = ''] = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n([\s\S]*))?$/m.exec(text) ?? [];
  return head === undefined || !text.startsWith('---') ? readAsReference(text) : toFields(head, body.trim());
};

/** Reads it as the reference validator does: the fields end with the next three hyphens, wherever they are. */
export async function readAsReference(text: string): Promise<FrontMatter> {
  if (!text.startsWith('---')) return { problem: 'SKILL.md must start with YAML frontmatter (---)' };
  const end = text.indexOf('---', 3);
  if (end < 0) return { problem: 'SKILL.md frontmatter not properly closed with ---' };
  return toFields(text.slice(3, end), text.slice(end + 3).trim());
}

async function toFields(head: string, body: string): Promise<FrontMatter> {
  if (head.length > MOST_CHARS) return { problem: `SKILL.md frontmatter has more than ${MOST_CHARS} characters` };
  const { load } = await import('js-yaml'); // loaded with the first skill
  let fields: unknown;
  try {
    fields = load(head) ?? {};
  } catch (error) {
    return { problem: `Invalid YAML in frontmatter: ${wordsOf(error).split('\n', 1)[0] ?? ''}` };
  }
  if (!isRecord(fields)) return { problem: 'SKILL.md frontmatter must be a YAML mapping' };
  return isTooLarge(fields)
    ? { problem: `SKILL.md frontmatter has more than ${MOST_VALUES} values` }
    : { fields, body };
}

/** The text of a field. Empty for a list or a mapping, which no text field is, and which may refuse to become a text. */
export function toFieldText(value: unknown): string {
  const isText = value !== undefined && value !== null && (typeof value !== 'object' || value instanceof Date);
  return isText ? String(value) : '';
}

/** Counts a value as often as aliases repeat it, as whatever turns it into text would. */
function isTooLarge(fields: unknown): boolean {
  const waiting: unknown[] = [fields];
  for (let count = 1; waiting.length > 0; count += 1) {
    if (count + waiting.length > MOST_VALUES) return true;
    const value = waiting.pop();
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) waiting.push(part);
  }
  return false;
}
