import { COMMANDS, findNearestCommand, isCommandName, usageOf } from '../../../protocol/commands.ts';

/** The commands with what they do, one a line. */
export function helpText(): string {
  const names = Object.keys(COMMANDS).filter(isCommandName);
  const width = Math.max(...names.map((name) => usageOf(name).length));
  return names.map((name) => `${usageOf(name).padEnd(width)}  ${COMMANDS[name].summary}`).join('\n');
}

/** What single clients can do, and the daemon cannot: it has no files of the person. */
const ELSEWHERE: Record<string, string> = {
  export:
    'To export this conversation, use its menu on the page (the arrow next to its name), /export FILE in headgate chat, or headgate export.',
  import:
    'To import a conversation, use the dialog "New workstream" on the page, /import FILE in headgate chat, or headgate import.',
};

/** The answer to a word that is no command. */
export function unknownCommand(word: string): string {
  if (Object.hasOwn(ELSEWHERE, word)) return ELSEWHERE[word] ?? '';
  const meant = findNearestCommand(word);
  const guess = meant === undefined ? '' : ` Did you mean /${meant}?`;
  return `Unknown command: /${word.slice(0, 64)}.${guess} Type /help for a list.`;
}
/** The size of a resumed conversation in the event that shows it; older messages are loaded by page. */
export const SHOWN = { messages: 200, chars: 512 * 1024 };
