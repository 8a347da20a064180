import type { HistoryMessage, HistoryNote } from '../../../../protocol/stream-events.ts';
import type { Talk } from '../talk.ts';

type ReadPage = Talk['readPage'];

/** The last messages of people, oldest first, at most `count`. */
export async function lastAsked(readPage: ReadPage, count: number): Promise<HistoryMessage[]> {
  const asked: HistoryMessage[] = [];
  for await (const { messages } of pagesBackwards(readPage)) {
    asked.unshift(...messages.filter(({ role }) => role === 'user'));
    if (asked.length >= count) break;
  }
  return asked.slice(-count);
}

/** The answer at `place`, counted from the end, from 1: all that the model said to one message, as Markdown. */
export async function findAnswer(readPage: ReadPage, place: number): Promise<string | undefined> {
  const messages: HistoryMessage[] = [];
  for await (const page of pagesBackwards(readPage)) {
    messages.unshift(...page.messages);
    const known = toAnswers(messages);
    if (known.length > place) break; // the first one may have begun on an earlier page
  }
  return toAnswers(messages).at(-place);
}

/** The newest summary of earlier messages that counts. */
export async function findSummary(readPage: ReadPage): Promise<SummaryNote | undefined> {
  for await (const { notes = [] } of pagesBackwards(readPage)) {
    const found = notes.findLast((note): note is SummaryNote => note.kind === 'compacted');
    if (found) return found;
  }
  return undefined;
}

type SummaryNote = Extract<HistoryNote, { kind: 'compacted' }>;

/** The stored conversation, newest page first. */
async function* pagesBackwards(readPage: ReadPage): AsyncGenerator<Awaited<ReturnType<ReadPage>>> {
  let before: number | undefined;
  for (;;) {
    const page = await readPage(before);
    yield page;
    before = page.messages[0]?.seq;
    if (!page.truncated || before === undefined) return;
  }
}

/** One text per message of a person that was answered with text. */
function toAnswers(messages: readonly HistoryMessage[]): string[] {
  const answers: string[][] = [[]];
  for (const { role, content } of messages) {
    if (role === 'user') answers.push([]);
    else if (role === 'assistant' && content) answers.at(-1)?.push(content);
  }
  return answers.filter((texts) => texts.length > 0).map((texts) => texts.join('\n\n'));
}
