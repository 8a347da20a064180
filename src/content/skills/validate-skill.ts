import { wordsOf } from '../../../protocol/words-of.ts';
import { readAsReference } from './front-matter.ts';

const NAME_CHARS = 64;
const DESCRIPTION_CHARS = 1024;
const COMPATIBILITY_CHARS = 500;

const ALLOWED_FIELDS = ['allowed-tools', 'compatibility', 'description', 'license', 'metadata', 'name'];

/** Letters of the alphabets that names may have: Latin, Cyrillic, Chinese characters and combining marks; digits; hyphens. */
const NAME = /^(?:[-0-9A-Za-z\u00c0-\u024f\u0400-\u04ff\u3400-\u4dbf\u4e00-\u9fff]|[\u0300-\u036f])*$/;

/** Something about a SKILL.md that the specification of skills forbids. */
export interface SkillProblem {
  text: string;
  /** The skill can be used nevertheless: other programs know fields that the specification does not have. */
  isHarmless?: true;
}

/**
 * What is wrong with a SKILL.md by the specification of agentskills.io, as its reference validator sees it. Empty: nothing.
 * `folder`: the name of the folder that it is in.
 */
export async function validateSkill(text: string, folder: string): Promise<SkillProblem[]> {
  const read = await readAsReference(text);
  if ('problem' in read) return [{ text: read.problem }];
  try {
    return findProblems(read.fields, folder);
  } catch (error) {
    return [{ text: `Invalid frontmatter: ${wordsOf(error)}` }]; // a value that cannot be turned into text
  }
}

function findProblems(fields: Record<string, unknown>, folder: string): SkillProblem[] {
  const unexpected = Object.keys(fields)
    .filter((field) => !ALLOWED_FIELDS.includes(field))
    .sort((a, b) => (a < b ? -1 : 1));
  return [
    ...(unexpected.length === 0
      ? []
      : [
          {
            text: `Unexpected fields in frontmatter: ${unexpected.join(', ')}. Only ${ALLOWED_FIELDS.join(', ')} are allowed.`,
            isHarmless: true as const,
          },
        ]),
    ...('name' in fields ? nameProblems(String(fields.name), folder) : [missing('name')]),
    ...('description' in fields ? descriptionProblems(String(fields.description)) : [missing('description')]),
    ...('compatibility' in fields ? compatibilityProblems(fields.compatibility) : []),
  ].map((problem) => (typeof problem === 'string' ? { text: problem } : problem));
}

const missing = (field: string): string => `Missing required field in frontmatter: ${field}`;

function nameProblems(given: string, folder: string): string[] {
  if (given.trim() === '') return ["Field 'name' must be a non-empty string"];
  const name = toSkillName(given);
  return [
    ...skillNameProblems(name),
    ...(folder.normalize('NFKC') === name ? [] : [`Directory name '${folder}' must match skill name '${name}'`]),
  ];
}

/** The name as it is compared. */
export const toSkillName = (given: string): string => given.trim().normalize('NFKC');

/** What is wrong with the name of a skill, wherever it is kept. */
export function skillNameProblems(name: string): string[] {
  return [
    ...(name.length > NAME_CHARS
      ? [`Skill name '${name}' exceeds ${NAME_CHARS} character limit (${name.length} chars)`]
      : []),
    ...(name === name.toLowerCase() ? [] : [`Skill name '${name}' must be lowercase`]),
    ...(name.startsWith('-') || name.endsWith('-') ? ['Skill name cannot start or end with a hyphen'] : []),
    ...(name.includes('--') ? ['Skill name cannot contain consecutive hyphens'] : []),
    ...(NAME.test(name)
      ? []
      : [`Skill name '${name}' contains invalid characters. Only letters, digits, and hyphens are allowed.`]),
  ];
}

function descriptionProblems(description: string): string[] {
  if (description.trim() === '') return ["Field 'description' must be a non-empty string"];
  const { length } = description;
  return length > DESCRIPTION_CHARS
    ? [`Description exceeds ${DESCRIPTION_CHARS} character limit (${length} chars)`]
    : [];
}

function compatibilityProblems(compatibility: unknown): string[] {
  if (typeof compatibility !== 'string') return ["Field 'compatibility' must be a string"];
  const { length } = compatibility;
  return length > COMPATIBILITY_CHARS
    ? [`Compatibility exceeds ${COMPATIBILITY_CHARS} character limit (${length} chars)`]
    : [];
}
