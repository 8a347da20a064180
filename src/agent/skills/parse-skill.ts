import { toVisibleLine } from '../../../protocol/text/visible-text.ts';
import { readFrontMatter, toFieldText } from '../../content/skills/front-matter.ts';
import { validateSkill } from '../../content/skills/validate-skill.ts';

/** The most that a SKILL.md may have. */
export const MAX_SKILL_BYTES = 256 * 1024;
/** As much of a skill's text enters a conversation. */
export const MAX_SKILL_CHARS = 32_768;

/** A SKILL.md that can be used. */
export interface ParsedSkill {
  name: string;
  description: string;
  /** What follows the front matter. */
  text: string;
  license: string;
  compatibility: string;
  /** Tools that its author wants to have approved. Nothing is approved because of them. */
  allowedTools: string[];
  author: string;
  version: string;
  /** Models do not load it: only people do. */
  isForPeople: boolean;
  /** What the specification forbids, although the skill can be used. */
  remarks: string[];
}

/** Parses a SKILL.md. A text says why it cannot be used. `folder`: the name of the folder that it is in. */
export async function parseSkill(text: string, folder: string): Promise<ParsedSkill | string> {
  const problems = await validateSkill(text, folder);
  const fatal = problems.filter(({ isHarmless }) => !isHarmless);
  if (fatal.length > 0) return fatal.map((problem) => problem.text).join('; ');
  const read = await readFrontMatter(text);
  if ('problem' in read) return read.problem;
  const { fields, body } = read;
  if (body === '') return 'SKILL.md has no text after its frontmatter';
  const metadata = fieldsOf(fields.metadata);
  return {
    name: textOf(fields.name).trim().normalize('NFKC'),
    description: toVisibleLine(textOf(fields.description).trim()),
    text: body,
    license: textOf(fields.license).slice(0, MOST_OF_FIELD),
    compatibility: textOf(fields.compatibility),
    allowedTools: namesOf(fields['allowed-tools']),
    author: textOf(metadata.author).slice(0, MOST_OF_FIELD),
    version: textOf(metadata.version).slice(0, MOST_OF_FIELD),
    isForPeople: fields['disable-model-invocation'] === true,
    remarks: problems.map((problem) => problem.text),
  };
}

const MOST_OF_FIELD = 256;

const textOf = (value: unknown): string => toVisibleLine(toFieldText(value));

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.fromEntries(Object.entries(value)) : {};

/** `Bash(git:*) Read`, or a list of such texts. */
function namesOf(value: unknown): string[] {
  const text = Array.isArray(value) ? value.map(textOf).join(' ') : textOf(value);
  // Without a bracket that closes, each one that opens would be looked for again.
  const end = text.lastIndexOf(')') + 1;
  const names = [text.slice(0, end).match(/[^\s,(]+(\([^)]*\))?/g), text.slice(end).match(/[^\s,(]+/g)];
  return names.flatMap((found) => found ?? []).slice(0, MOST_TOOLS);
}

const MOST_TOOLS = 100;
