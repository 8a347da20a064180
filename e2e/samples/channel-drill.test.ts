import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runChannelDrill } from '../channel-drill/drill.ts';

test('no message of a chat is lost, read twice or answered twice over a few kills, and what may be lost is told', async (t) => {
  const seed = randomInt(1, 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const options = { kills: 4, messages: 30, seed, say: (line: string) => t.diagnostic(line) };
  const { violations, score, folder } = await runChannelDrill(options);
  assert.deepEqual(violations, [], `npm run channel-drill -- --kills 4 --messages 30 --seed ${seed} (${folder})`);
  // A drill in which nothing happens proves nothing.
  const { messages, parts, ambiguous, notices } = score;
  const missing = Object.entries({ messages, parts, ambiguous, notices }).filter(([, count]) => count === 0);
  assert.deepEqual({ missing, killed: score.kills >= 4 }, { missing: [], killed: true });
});
