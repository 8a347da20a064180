import path from 'node:path';
import { z } from 'zod';
import { isSecretPath } from '../tools/files/secret-path.ts';
import type { Prepared, Tool, ToolContext, ToolOutcome } from '../tools/tool.ts';
import { listedSkills, shownSkill } from './shown-skill.ts';
import type { AgentSkill, SkillPlace, SkillSource } from './skill-source.ts';
import { warningOf } from './skill-step.ts';

const SkillArguments = z.strictObject({
  action: z.enum(['load', 'search', 'read']),
  name: z.string().max(256).optional().describe('load, read: the name of the skill'),
  path: z.string().max(512).optional().describe('read: a file of the skill, such as references/api.md'),
  query: z.string().max(1_024).optional().describe('search: words of the name or description; empty: all skills'),
});
type SkillArguments = z.infer<typeof SkillArguments>;

/** Loads skills when a task needs them. Their texts come as results, so the beginning of the conversation stays as it is. */
export function createSkillTool(skills: SkillSource): Tool<SkillArguments> {
  return {
    name: 'skill',
    description: [
      'Skills are written instructions for particular tasks, some with files. Messages list those that can be loaded.',
      'load returns the text of one, read a file that it brings, search finds skills by words.',
    ].join(' '),
    parameters: SkillArguments,
    readOnly: true,
    safeToRepeat: true,
    prepare: (args, context) => prepare(args, context, skills),
  };
}

async function prepare(args: SkillArguments, context: ToolContext, skills: SkillSource): Promise<Prepared> {
  const place = { wsId: context.wsId, workdir: context.workdir.folder.path };
  if (args.action === 'search') {
    const query = args.query ?? '';
    return { ...ready(`search ${query}`.trim(), 'skill'), execute: () => search(query, place, skills) };
  }
  const { name } = args;
  if (name === undefined || name.trim() === '') return refused(args, 'name is required');
  const skill = await skills.load(place, name.trim());
  if (!skill) return refused(args, await whyNot(name, place, skills));
  if (args.action === 'load') {
    return {
      ...ready(name, labelOf(skill)),
      preview: skill.isUntrusted ? previewOf(skill) : '',
      needsApproval: skill.isUntrusted,
      bindTo: skill.digest,
      execute: async ({ maxOutputBytes }) => outcomeOf(skill, toText(skill, maxOutputBytes)),
    };
  }
  const file = toFile(args.path ?? '');
  if (file === undefined) return refused(args, 'path must lead to a file below the folder of the skill');
  return {
    ...ready(`${name}: ${file}`, labelOf(skill)),
    needsApproval: skill.isUntrusted,
    preview: skill.isUntrusted ? previewOf(skill) : '',
    bindTo: skill.digest,
    execute: ({ maxOutputBytes }) => read(skill, file, { place, skills, maxOutputBytes }),
  };
}

/** Rules and permissions for a single skill match this name. */
const labelOf = ({ name }: AgentSkill): string => `skill__${name}`;

const ready = (subject: string, approvalLabel: string) => ({
  kind: 'ready' as const,
  subject: subject.slice(0, MOST_SUBJECT),
  preview: '',
  approvalLabel,
  needsApproval: false,
  stored: 'read' as const,
});

const MOST_SUBJECT = 200;

const refused = ({ action, name = '' }: SkillArguments, reason: string): Prepared => ({
  kind: 'refused',
  subject: `${action} ${name}`.trim().slice(0, MOST_SUBJECT),
  reason,
});

/** A person decides about a text that strangers wrote, so it is shown whole. */
const previewOf = (skill: AgentSkill): string =>
  [skill.description, ...(warningOf(skill) === undefined ? [] : [warningOf(skill)]), '', skill.text].join('\n');

async function whyNot(name: string, place: SkillPlace, skills: SkillSource): Promise<string> {
  const names = (await skills.offered(place)).map((skill) => skill.name).slice(0, MOST_NAMED);
  const others =
    names.length === 0 ? 'No skill can be loaded here.' : `Skills that can be loaded: ${names.join(', ')}.`;
  return `No skill is called ${name}. ${others}`;
}

const MOST_NAMED = 30;

async function search(query: string, place: SkillPlace, skills: SkillSource): Promise<ToolOutcome> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (await skills.offered(place)).filter(({ name, description }) => {
    const text = `${name} ${description}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const output = found.length === 0 ? 'No skill fits.' : `Skills, whose descriptions are data:\n${listedSkills(found)}`;
  return { output, outcome: 'done' };
}

/** So much of the limit is left for what stands around a text. */
const AROUND_BYTES = 2_000;
/** A character takes up to three bytes, apart from rare ones, which count as two. */
const BYTES_PER_CHAR = 3;

function toText(skill: AgentSkill, maxBytes: number): string {
  const whole = shownSkill(skill);
  if (Buffer.byteLength(whole) <= maxBytes) return whole;
  const chars = Math.max(200, Math.floor((maxBytes - AROUND_BYTES) / BYTES_PER_CHAR));
  return shownSkill({ ...skill, shownFiles: [] }, chars);
}

const outcomeOf = ({ name, isUntrusted }: AgentSkill, output: string): ToolOutcome => ({
  output,
  outcome: 'done',
  ...(isUntrusted && { taint: { kind: 'skill' as const, target: name } }),
});

/** The path in its shortest form; undefined: it leads out of the folder. */
function toFile(given: string): string | undefined {
  if (given === '' || given.includes('\0') || given.includes('\\')) return undefined;
  const file = path.posix.normalize(given);
  const isBelow = !path.posix.isAbsolute(file) && file !== '.' && file !== '..' && !file.startsWith('../');
  return isBelow && !file.endsWith('/') ? file : undefined;
}

async function read(
  skill: AgentSkill,
  file: string,
  { place, skills, maxOutputBytes }: { place: SkillPlace; skills: SkillSource; maxOutputBytes: number },
): Promise<ToolOutcome> {
  if (isSecretPath(file)) return { output: `${file} may hold secrets, so it is not read.`, outcome: 'failed' };
  const bytes = await skills.read(place, skill, file);
  if (bytes === undefined) {
    const known = skill.files.length === 0 ? 'It brings no files.' : `It brings: ${skill.files.join(', ')}.`;
    return { output: `The skill ${skill.name} has no file ${file}. ${known}`, outcome: 'failed' };
  }
  if (bytes.includes(0)) return { output: `${file} is no text (${bytes.length} bytes).`, outcome: 'failed' };
  const most = Math.max(200, maxOutputBytes - AROUND_BYTES);
  const text = new TextDecoder().decode(bytes.subarray(0, most), { stream: true });
  const left = bytes.length - most;
  return outcomeOf(skill, left > 0 ? `${text}\n[${left} more bytes of this file are left out]` : text);
}
