import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Message } from '../../../src/agent/message.ts';
import { systemClock } from '../../../src/clock.ts';
import { insertMessage } from '../../../src/gateway/runs/run-rows.ts';
import { OF_EVERYONE } from '../../../src/gateway/sharing/perception.ts';
import { openSqliteStore } from '../../../src/gateway/store/sqlite-store.ts';
import { insertWorkstream, toWorkstreamRow } from '../../../src/gateway/workstreams/workstream-rows.ts';
import { randomIds } from '../../../src/ids.ts';

/** Adds an open workstream with this name and number of messages to a home without a running daemon. Returns its id. */
export async function storeLongConversation(home: string, name: string, messages: number): Promise<string> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const silent = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const file = path.join(home, 'headgate.db');
  const options = { path: file, clock: systemClock, log: silent, durability: 'normal', bootId: 'seed' } as const;
  const store = await openSqliteStore(options);
  try {
    const wsId = randomIds.wsId();
    const nowMs = systemClock.now();
    const row = toWorkstreamRow({
      owned: OF_EVERYONE,
      wsId,
      alias: name,
      workdir: path.join(home, 'workspace'),
      nowMs,
    });
    await store.commit({ statements: [insertWorkstream(row)] });
    const statements = Array.from({ length: messages }, (_, index) => toMessage(index + 1)).flatMap((message) =>
      insertMessage({ wsId, runId: null, nowMs }, message),
    );
    await store.commit({ statements });
    return wsId;
  } finally {
    await store.close();
  }
}

const ignore = () => undefined;

/** Groups of four: a question, a command, its output, and an answer with text, a list, a table or code. */
function toMessage(number: number): Message {
  const turn = Math.ceil(number / 4);
  const callId = `call_${turn}`;
  switch (number % 4) {
    case 1:
      return { role: 'user', content: `question ${turn}: how far is it, and what is left to do?` };
    case 2: {
      const call = { id: callId, name: 'bash', arguments: JSON.stringify({ command: `npm test -- part-${turn}` }) };
      return { role: 'assistant', content: '', toolCalls: [call] };
    }
    case 3:
      return { role: 'tool', callId, name: 'bash', output: printed(turn), outcome: 'done' };
    default:
      return { role: 'assistant', content: answer(turn), toolCalls: [] };
  }
}

const printed = (turn: number): string =>
  Array.from(
    { length: turn % 30 },
    (_, line) => `\u001b[32m✔\u001b[39m part ${turn}.${line} \u001b[2m(${line} ms)\u001b[22m`,
  ).join('\n');

const answer = (turn: number): string =>
  [
    `## Answer ${turn}`,
    'It is **as far as it was**, and a little further. '.repeat(1 + (turn % 7)),
    ...(turn % 2 === 0 ? ['- one thing\n- another with `code`\n- a [link](https://example.com)'] : []),
    ...(turn % 3 === 0
      ? [`\`\`\`ts\n${`export const part${turn} = (count: number) => count * 2; // twice\n`.repeat(turn % 40)}\`\`\``]
      : []),
    ...(turn % 5 === 0 ? ['| part | state |\n|---|---|\n| one | done |\n| two | open |'] : []),
  ].join('\n\n');
