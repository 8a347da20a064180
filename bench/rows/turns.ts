import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { ModelTasks } from '../load/model.ts';
import { median, type Row } from '../row.ts';
import type { Stage } from '../stage.ts';
import { createWorkstreams } from '../workstreams.ts';
import { firstTurns } from './first-turns.ts';
import { openRelays } from './relay.ts';

const turnRow: Row = {
  name: 'turn',
  what: 'from sending a message to calling the model, median of the first 100 turns of a conversation',
  anchor: 'the minimal relay, for comparison',
  unit: 'ms',
  target: { atMost: 2.5 },
  async open(stage) {
    return firstTurns(stage, await openRelays(stage, { streams: 1 }));
  },
};

/** As an agent calls them: short and long ones, some with much to read. None of them changes anything. */
const COMMANDS = [
  'ls -la',
  'git status --short && git log --oneline -5 2>/dev/null || true',
  'test -f package.json && grep -n "\\"name\\"" package.json || echo none',
  'find . -maxdepth 2 -name "*.ts" -not -path "./node_modules/*" | head -20 | sort | uniq -c',
  'for f in a b c; do [ -e "$f" ] && wc -l "$f"; done; true',
  'cat /etc/hostname | tr a-z A-Z; echo "$((1 + 2))"',
];

const callRow: Row = {
  name: 'call',
  what: 'from the model’s call of a command, which a person has allowed, to its announcement to a reader: reading, rules, judge; median',
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost: 3 },
  async open(stage) {
    const model = stage.load<ModelTasks>('model');
    const url = await model.ask('serveModel', undefined);
    const product = await stage.product({ env: { OPENAI_BASE_URL: url } });
    const { port, token } = product;
    const commands = Array.from({ length: stage.quick ? 2 : 10 }, () => COMMANDS).flat();
    const p50 = async () => {
      const wsIds = await createWorkstreams(product, 1, { auto_approve: true });
      await model.ask('read', { port, token, wsIds });
      return median(await model.ask('calls', { port, token, commands }));
    };
    for (let time = 0; time < (stage.quick ? 1 : 15); time += 1) await p50(); // late compilation does not count
    return async () => {
      const value = await p50();
      return { value, figures: { product: value } };
    };
  },
};

/** Each round continues another conversation. */
const LONG = { messages: 5_000, conversations: 5, turns: 10 };

/** Turns of conversations that were stored before the start. Their messages are loaded in the first turn. */
async function openLong(stage: Stage): Promise<() => Promise<{ first: number; later: number }>> {
  const home = path.join(await stage.folder(), 'home');
  await mkdir(home, { mode: 0o700 });
  const { conversation } = await stage.programs.seeds();
  const wsIds: string[] = [];
  while (wsIds.length < (stage.quick ? 1 : LONG.conversations)) {
    wsIds.push(await conversation(home, `long-${wsIds.length}`, stage.quick ? LONG.messages / 10 : LONG.messages));
  }
  const model = stage.load<ModelTasks>('model');
  const url = await model.ask('serveModel', undefined);
  const product = await stage.product({ home, env: { OPENAI_BASE_URL: url } });
  const { port, token } = product;
  const turns = async (wsId: string, count: number) => {
    await model.ask('readStored', { port, token, wsIds: [wsId] });
    return model.ask('turns', { port, token, count });
  };
  const [warming = ''] = await createWorkstreams(product, 1);
  await turns(warming, stage.quick ? 5 : 100); // late compilation does not count
  return async () => {
    const wsId = wsIds.shift();
    if (wsId === undefined) throw new Error('each stored conversation can be measured once');
    const [first = Number.NaN, ...later] = await turns(wsId, LONG.turns);
    return { first, later: median(later) };
  };
}

const longRow = (name: string, { which, atMost }: { which: 'first' | 'later'; atMost: number }): Row => ({
  name,
  what: `${which === 'first' ? 'the first turn' : 'later turns'} of a conversation with 5,000 stored messages, from sending a message to calling the model`,
  anchor: 'the clock',
  unit: 'ms',
  target: { atMost },
  maxRounds: LONG.conversations,
  async open(stage) {
    const turns = await openLong(stage);
    return async () => {
      const figures = await turns();
      return { value: figures[which], figures };
    };
  },
});

export const turnRows = [
  turnRow,
  callRow,
  longRow('turn-long-first', { which: 'first', atMost: 40 }),
  longRow('turn-long', { which: 'later', atMost: 15 }),
];
