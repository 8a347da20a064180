import type { Command } from 'commander';
import type { Surroundings } from '../../../home/home-path.ts';
import type { TargetFlags } from '../../connect.ts';
import { refuseUnknown } from '../../default-command.ts';
import type { AddSkillFlags, InstallFlags, ListSkillsFlags, SetSkillFlags } from './skill.ts';

interface SkillCommandsDeps {
  root: URL;
  around: Surroundings;
  /** Adds the flags that choose the daemon. */
  withTarget(command: Command): Command;
}

/** Adds `headgate skill`, for instructions that agents load when a task needs them. */
export function addSkillCommands(program: Command, { root, around, withTarget }: SkillCommandsDeps): void {
  const skill = program.command('skill').description('see, add, install and check skills');
  const load = () => import('./skill.ts');
  const on = <F>(flags: F) => ({ flags, around, root });
  refuseUnknown(skill, withTarget(skill.command('list', { isDefault: true })))
    .description('list the skills of a workstream, also those in folders (the default command)')
    .option('-w, --workstream <id>', 'the workstream (default: main)')
    .option('--stored', 'all skills of the database, also disabled ones')
    .option('--json', 'print JSON')
    .action(async (flags: ListSkillsFlags) => (await load()).listSkills(on(flags)));
  withTarget(skill.command('show'))
    .description('print a stored skill with its settings and its scan')
    .argument('<name>', 'name of the skill')
    .option('--json', 'print JSON')
    .action(async (name: string, flags: ListSkillsFlags) => (await load()).showSkill(name, on(flags)));
  withTarget(skill.command('add'))
    .description('store the SKILL.md of a folder, with its scripts, references and assets')
    .argument('<folder>', 'a folder with a SKILL.md')
    .option('--activation <how>', 'named, search or default (default: named)')
    .action(async (folder: string, flags: AddSkillFlags) => (await load()).addSkill(folder, on(flags)));
  withTarget(skill.command('set'))
    .description('change how a skill is used')
    .argument('<name>', 'name of the skill')
    .option('--activation <how>', 'named: people choose it; search: models load it; default: it holds everywhere')
    .option('--enable', 'make it usable')
    .option('--disable', 'keep it, unused')
    .option('--model <alias>', 'the model of workstreams that are created with it')
    .action(async (name: string, flags: SetSkillFlags) => (await load()).setSkill(name, on(flags)));
  withTarget(skill.command('search'))
    .description('search the directory of skills')
    .argument('<words>', 'what to search for')
    .option('--json', 'print JSON')
    .action(async (words: string, flags: ListSkillsFlags) => (await load()).searchSkills(words, on(flags)));
  withTarget(skill.command('install'))
    .description('fetch skills, scan and store them; nothing of them runs')
    .argument('<source>', 'owner/repository/name as the search shows it, or an address on GitHub')
    .option('--digest <sha256>', 'refuse anything but this content')
    .action(async (source: string, flags: InstallFlags) => (await load()).installSkill(source, on(flags)));
  withTarget(skill.command('rescan'))
    .description('scan a stored skill again')
    .argument('<name>', 'name of the skill')
    .action(async (name: string, flags: TargetFlags) => (await load()).rescanSkill(name, on(flags)));
  withTarget(skill.command('delete'))
    .description('delete a stored skill')
    .argument('<name>', 'name of the skill')
    .action(async (name: string, flags: TargetFlags) => (await load()).deleteSkill(name, on(flags)));
  skill
    .command('validate')
    .description('check folders by the specification of agentskills.io; needs no daemon')
    .argument('<folders...>', 'folders with a SKILL.md')
    .action(async (folders: string[]) => (await import('./validate.ts')).validateFolders(folders));
}
