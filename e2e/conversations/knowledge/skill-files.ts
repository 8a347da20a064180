import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The names of skills that a machine may have. */
export const SKILLS = ['sweep', 'paint', 'count'] as const;
type SkillName = (typeof SKILLS)[number];

/** What the text of a skill says in this version. */
export const skillText = (name: SkillName, version: number): string => `Do ${name} in way ${version} of it.`;
/** What models read of it before they load it. */
export const skillDescription = (name: SkillName, version: number): string => `Does ${name} in way ${version}.`;

/** Writes a skill below the home of a machine, as an editor does. */
export function writeSkill(home: string, name: SkillName, version: number): void {
  const folder = path.join(home, 'skills', name);
  mkdirSync(folder, { recursive: true });
  const head = ['---', `name: ${name}`, `description: ${skillDescription(name, version)}`, '---'];
  writeFileSync(path.join(folder, 'SKILL.md'), [...head, skillText(name, version)].join('\n'));
}

export const removeSkill = (home: string, name: SkillName): void =>
  rmSync(path.join(home, 'skills', name), { recursive: true, force: true });
