/** Whether a draft is a command and not a message that begins with a path. */
export const isCommand = (draft: string): boolean => /^\/[a-z]+(\s|$)/.test(draft.trimStart());

/** The commands that a draft may be the beginning of. */
export const findCommands = (draft: string) =>
  draft.startsWith('/') ? COMMANDS.filter(({ name }) => name.startsWith(draft) && name !== draft) : [];

/** What the composer offers; the daemon knows them and answers as events. */
const COMMANDS = [
  { name: '/help', hint: 'what there is' },
  { name: '/new', hint: 'start afresh, keep this conversation saved' },
  { name: '/clear', hint: 'forget what was said, keep the workstream' },
  { name: '/model', hint: 'show or switch the model' },
  { name: '/name', hint: 'rename this workstream' },
  { name: '/resume', hint: 'bring a saved conversation here' },
] as const;
