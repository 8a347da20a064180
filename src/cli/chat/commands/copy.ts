import { stripVTControlCharacters } from 'node:util';
import { UsageError } from '../../../start-error.ts';
import { findAnswer } from './stored-messages.ts';
import { type TalkCommand, toCount } from './talk-command.ts';

/** Terminals cut off or ignore longer sequences: xterm reads at most 74 994 bytes of base64. */
const MOST_BYTES = Math.floor(74_994 / 4) * 3;
const MOST_BACK = 100;

/** `/copy [N]`: copies the last answer, or an earlier one, to the clipboard of the terminal with the sequence OSC 52. */
export const copyAnswer: TalkCommand = async (argument, { talk, writeToTerminal }) => {
  if (writeToTerminal === undefined) {
    throw new UsageError(
      '/copy needs a terminal, but stdin or stdout is a pipe or a file. To write the conversation to a file, use /export FILE.',
    );
  }
  const place = toCount(argument, { command: '/copy', fallback: 1, most: MOST_BACK });
  const found = await findAnswer(talk.readPage, place);
  if (found === undefined)
    throw new UsageError(place === 1 ? 'No answer yet.' : `There are fewer than ${place} answers.`);
  const text = toClipboardText(found);
  const bytes = Buffer.from(text);
  if (bytes.length > MOST_BYTES) {
    throw new UsageError(
      `The answer is too long for the clipboard of a terminal: ${bytes.length} bytes, and at most ${MOST_BYTES} are possible. Use /export FILE.md.`,
    );
  }
  writeToTerminal(`\x1b]52;c;${bytes.toString('base64')}\x07`);
  const which = place === 1 ? 'The last answer' : `Answer ${place} from the end`;
  talk.transcript.print([`${which} (${bytes.length} bytes) was sent to the clipboard of the terminal.`]);
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this removes.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Without what could control a terminal into which the text is pasted. Tabs stay: code may need them. */
const toClipboardText = (text: string): string => stripVTControlCharacters(text).replaceAll(CONTROLS, '');
