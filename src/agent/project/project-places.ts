/**
 * Everything that the daemon reads in folders of a project and then obeys, or shows a model as something to obey. Who reads
 * takes the names from here; what asks before a change (obeyed-paths.ts) and what commands cannot change
 * (protected-paths.ts) are derived from it, so that nothing that is read can be planted (decision 130).
 */

/** The first of these in a folder is its instruction file. */
export const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md'] as const;
/** With skills. The first is ours; the others are those of other programs. */
export const SKILL_FOLDERS = ['.headgate/skills', '.agents/skills', '.claude/skills'] as const;
/** With the project's commands. */
export const COMMAND_FOLDER = '.headgate/commands';

/** Says in each folder what searches and snapshots of files leave out. An ordinary file of a project: only taint asks. */
export const IGNORE_FILE = '.gitignore';

/** The files and top folders of a project in which all of this is. */
export const READ_PLACES: readonly string[] = [
  ...new Set([...INSTRUCTION_FILES, ...SKILL_FOLDERS, COMMAND_FOLDER].map((place) => place.split('/', 1)[0] ?? place)),
];

/** Whether a path of a project says what is left out of searches and snapshots. */
export const isIgnoreFile = (relative: string): boolean =>
  relative === IGNORE_FILE || relative.endsWith(`/${IGNORE_FILE}`);
