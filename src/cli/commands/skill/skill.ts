import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import type { Result } from '../../../../protocol/index.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { NotFoundError, UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { locateWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { toTextTable } from '../../text-table.ts';
import { readSkillFolder } from './skill-folder.ts';

interface SkillCommand<F = TargetFlags> {
  flags: F;
  around: Surroundings;
  root: URL;
}

export interface ListSkillsFlags extends TargetFlags {
  workstream?: string;
  stored?: true;
  json?: true;
}

export interface AddSkillFlags extends TargetFlags {
  activation?: string;
}

export interface SetSkillFlags extends AddSkillFlags {
  enable?: true;
  disable?: true;
  model?: string;
}

export interface InstallFlags extends TargetFlags {
  digest?: string;
}

type Skill = Result<'skill.get'>;

/** Lists what a workstream can use, or everything that is stored. */
export async function listSkills(command: SkillCommand<ListSkillsFlags>): Promise<void> {
  const { workstream = 'main', stored, json } = command.flags;
  if (stored) {
    const { skills } = await ask(command, (client) => client.call('skill.details', {}));
    if (json) return toJson(skills);
    return toTable(
      skills.length === 0 ? [] : [['NAME', 'ACTIVATION', 'ORIGIN', 'SCAN', 'DESCRIPTION'], ...skills.map(storedRow)],
    );
  }
  const found = await ask(command, async (client) =>
    client.call('skill.available', { wsId: await locateWorkstream(client, workstream) }),
  );
  if (json) return toJson(found);
  const rows = found.skills.map(({ name, description, origin, isApplied, isOffered, tier = '' }) => [
    toSafeText(name),
    isApplied ? 'holds here' : isOffered ? 'models load it' : 'by its name',
    origin,
    tier,
    short(description),
  ]);
  toTable(rows.length === 0 ? [] : [['NAME', 'USE', 'ORIGIN', 'SCAN', 'DESCRIPTION'], ...rows]);
  for (const { name, folder } of found.waiting)
    process.stderr.write(`${toSafeText(name)} waits for trust in ${toSafeText(folder)}.\n`);
  for (const { file, why } of found.odd) process.stderr.write(`${toSafeText(file)} is no skill: ${toSafeText(why)}\n`);
}

const storedRow = ({ name, activation, enabled, origin, scan, description }: Skill): string[] => [
  toSafeText(name),
  enabled ? activation : 'disabled',
  origin,
  scan.tier,
  short(description),
];

export async function showSkill(name: string, command: SkillCommand<ListSkillsFlags>): Promise<void> {
  const skill = await ask(command, (client) => findSkill(client, name));
  if (command.flags.json) return toJson(skill);
  const { scan, origin, sourceUrl, digest, activation, enabled, kind, revision, content, description } = skill;
  const head = [
    `${skill.name}: ${description}`,
    `${enabled ? activation : 'disabled'}, for ${kind} workstreams, revision ${revision}`,
    ...(origin === 'source' ? [`from ${sourceUrl}`, `digest ${digest}`] : []),
    ...(skill.resourceCount > 0 ? [`${skill.resourceCount} resources`] : []),
    ...leftOutLines(skill.leftOut),
    `scan ${scan.tier} (${scan.composite})`,
    ...Object.values(scan.details).flatMap((details) => details.map((detail) => `  ${detail}`)),
  ];
  process.stdout.write(`${toSafeText([...head, '', content].join('\n'))}\n`);
}

/** Why a file of an installed skill was not stored. */
const WHY_LEFT = { binary: 'not text', place: 'not in scripts, references or assets' };

function leftOutLines(leftOut: Skill['leftOut']): string[] {
  if (!leftOut) return [];
  const more = leftOut.count - leftOut.files.length;
  return [
    ...leftOut.files.map(({ path: place, reason }) => `  left out: ${place} (${WHY_LEFT[reason]})`),
    ...(more > 0 ? [`  left out: ${more} more files`] : []),
  ];
}

export async function addSkill(folder: string, command: SkillCommand<AddSkillFlags>): Promise<void> {
  const { activation } = command.flags;
  const { fields, files, left } = await readSkillFolder(folder);
  await ask(command, async (client) => {
    const { skillId } = await client.call('skill.create', {
      ...fields,
      ...(activation !== undefined && { activation }),
    });
    try {
      for (const file of files) await client.call('skill.resource.create', { skillId, ...file });
    } catch (error) {
      await client.call('skill.delete', { skillId }); // half of a skill is none
      throw error;
    }
  });
  process.stderr.write(files.length === 0 ? 'Added.\n' : `Added, with ${files.length} files.\n`);
  for (const file of left) process.stderr.write(`  left out: ${toSafeText(file)} (${WHY_LEFT.binary})\n`);
}

export async function setSkill(name: string, command: SkillCommand<SetSkillFlags>): Promise<void> {
  const { activation, enable, disable, model } = command.flags;
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other');
  const change = {
    ...(activation !== undefined && { activation }),
    ...(model !== undefined && { model }),
    ...(enable && { enabled: true }),
    ...(disable && { enabled: false }),
  };
  if (Object.keys(change).length === 0) throw new UsageError('nothing to change; see headgate skill set --help');
  await ask(command, async (client) => {
    const { skillId } = await findSkill(client, name);
    return client.call('skill.update', { skillId, ...change });
  });
  process.stderr.write('Changed.\n');
}

export async function searchSkills(words: string, command: SkillCommand<ListSkillsFlags>): Promise<void> {
  const { skills } = await ask(command, (client) => client.call('skill.discover', { query: words, limit: 50 }));
  if (command.flags.json) return toJson(skills);
  const rows = skills.map(({ id, description, installCount, isInstalled, tier = '' }) => [
    toSafeText(id),
    String(installCount),
    isInstalled ? `installed (${tier})` : '',
    short(description),
  ]);
  toTable(rows.length === 0 ? [] : [['ID', 'INSTALLS', '', 'DESCRIPTION'], ...rows]);
}

export async function installSkill(source: string, command: SkillCommand<InstallFlags>): Promise<void> {
  const { digest } = command.flags;
  const where = source.includes('://')
    ? { source: 'github', url: source }
    : { source: 'skills.sh', sourceSkillId: source };
  const { installed, skipped } = await ask(command, (client) =>
    client.call('skill.install', { ...where, ...(digest !== undefined && { digest }) }),
  );
  for (const { name, scan, digest: found, leftOut } of installed) {
    const lines = [`${name}: installed, scan ${scan.tier}, digest ${found}`, ...leftOutLines(leftOut)];
    process.stdout.write(`${lines.map(toSafeText).join('\n')}\n`);
  }
  for (const { name, reason, problem } of skipped)
    process.stdout.write(
      `${toSafeText(name)}: skipped, ${reason}${problem === undefined ? '' : `: ${toSafeText(problem)}`}\n`,
    );
  process.stderr.write(
    'Read it with "headgate skill show NAME"; "headgate skill set NAME --activation search" lets models load it.\n',
  );
}

export async function rescanSkill(name: string, command: SkillCommand): Promise<void> {
  const { scan } = await ask(command, async (client) =>
    client.call('skill.rescan', { skillId: (await findSkill(client, name)).skillId }),
  );
  process.stdout.write(`scan ${scan.tier} (${scan.composite})\n`);
}

export async function deleteSkill(name: string, command: SkillCommand): Promise<void> {
  await ask(command, async (client) =>
    client.call('skill.delete', { skillId: (await findSkill(client, name)).skillId }),
  );
  process.stderr.write('Deleted.\n');
}

async function findSkill(client: GatewayClient, name: string): Promise<Skill> {
  const { skills } = await client.call('skill.details', {});
  const found = skills.find((skill) => skill.name === name || skill.skillId === name);
  if (!found) throw new NotFoundError(`No stored skill is called ${name}. "headgate skill list --stored" lists them.`);
  return found;
}

const SHOWN = 60;

function short(description: string): string {
  const line = toSafeText(description).replaceAll(/\s+/g, ' ').trim();
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN)}…`;
}

const toJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);

function toTable(rows: string[][]): void {
  if (rows.length === 0) process.stderr.write('No skills.\n');
  else process.stdout.write(toTextTable(rows));
}

async function ask<T>({ flags, around, root }: SkillCommand, work: (client: GatewayClient) => Promise<T>): Promise<T> {
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  return withClient(caller, work);
}
