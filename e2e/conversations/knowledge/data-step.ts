import { answerOf, type Run, sendScripted } from '../scripted-turns.ts';
import type { Reply } from '../simulate.ts';

/** More wrong answers than a model may give. */
const MOST_WRONG = 3;

const noData = { status: 400, body: { error: { message: 'The request was rejected.', code: 400, status: 'X' } } };

/**
 * A program asks for data. The model gets the schema with that request; the data that comes back is what it answered. A
 * request that failed before any answer leaves nothing behind.
 */
export const askForData: Run = async (talk, random) => {
  const { machine, witness, wsId } = talk;
  const number = talk.nextNumber();
  const title = `Form ${number}.`;
  const message = talk.nextMessage();
  const answer = `answer to ${talk.nextMessage()}`;
  const isRefused = random.chance(0.2);
  const wrong = random.pick([0, 0, 1, 2, MOST_WRONG]);
  const replies: Reply[] = [
    ...(random.chance(0.4) ? [answerOf(talk, random, 2)] : []),
    ...Array.from({ length: wrong }, () => answerOf(talk, random, 0)),
    ...(wrong < MOST_WRONG ? [{ answer: { text: JSON.stringify({ answer }) } }] : []),
  ];
  witness.script(...(isRefused ? [{ fail: noData }] : replies));
  talk.isStopped = true; // it may fail: too many answers are wrong, or a daemon that dies takes one with it
  const accepted = Promise.withResolvers<void>();
  const params = { message, sessionKey: wsId, idempotencyKey: `data-${number}`, outputSchema: schemaOf(title) };
  let output: unknown;
  const asked = machine.call('agent', params, { interim: () => accepted.resolve() }).then(
    (result) => {
      output = result.output;
    },
    () => undefined, // it failed, was cancelled, or its daemon died
  );
  await Promise.race([accepted.promise, asked]);
  await talk.settle();
  await talk.checkEnd();
  witness.forgetScript();
  const { db } = machine.store;
  const run = await db
    .selectFrom('runs')
    .select('status')
    .where('run_key', '=', params.idempotencyKey)
    .executeTakeFirst();
  if (run?.status === 'ok') witness.mustBeInLatest(title);
  if (output !== undefined && JSON.stringify(output) !== JSON.stringify({ answer }))
    witness.violate(`${JSON.stringify(output)} came in place of ${answer}`);
  await sendScripted(talk, random);
  if (isRefused && witness.countInLatest(message) === 0 && witness.countInLatest(title) > 0)
    witness.violate(`${title} was sent without its request`);
};

const schemaOf = (title: string) => ({
  title,
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
});
