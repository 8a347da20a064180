import assert from 'node:assert/strict';
import fc from 'fast-check';
import type {
  ConversationFile,
  FileContent,
  FileNote,
} from '../../../protocol/methods/conversation/conversation-file.ts';
import type { FileMessage } from '../../../protocol/methods/conversation/file-message.ts';
import { DAEMON } from '../sharing/perception.ts';
import type { WholeGateway } from '../testing/whole-gateway.ts';

/** The exported conversation, after comparing both ways to get it. */
export async function exported(gateway: WholeGateway, wsId: string): Promise<ConversationFile> {
  const answer = await gateway.call('workstream.export', { wsId });
  assert.ok(answer.format === 'json');
  const text = await textOf((await gateway.gateway.exports.open(wsId, DAEMON)).json());
  assert.deepEqual(JSON.parse(text), answer.conversation);
  return answer.conversation;
}

export async function textOf(pieces: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const piece of pieces) text += piece;
  return text;
}

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

/** The bytes of a small image. */
export const imageOf = (text: string): Buffer => Buffer.concat([PNG, Buffer.from(text)]);

const text = fc
  .oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 10 }))
  .map((any) => any.toWellFormed());
const createdMs = fc.nat();
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const without = <T extends object>(value: T): T => JSON.parse(JSON.stringify(value)); // without undefined fields

const outcome = fc.constantFrom('done', 'failed', 'denied', 'expired', 'blocked', 'cancelled', 'unknown');

const file: fc.Arbitrary<FileContent> = fc.oneof(
  fc
    .string({ minLength: 1 })
    .map((inside) => contentOf('text/plain', Buffer.from(inside.replaceAll('\0', '').toWellFormed() || 'x'))),
  fc.string().map((inside) => contentOf('image/png', imageOf(inside))),
  fc.string().map((inside) => contentOf('application/pdf', Buffer.from(`%PDF-1.7${inside.toWellFormed()}`))),
  fc.string().map((inside) => contentOf('audio/ogg', Buffer.from(`OggS\0${inside.toWellFormed()}`))),
  fc.string().map((inside) => contentOf('video/mp4', Buffer.from(`\0\0\0\x20ftypisom${inside.toWellFormed()}`))),
  fc.constant({ name: 'lost.webm', mimeType: 'video/webm', sizeBytes: 12 } as const),
  fc.constant({ name: '📄'.repeat(200), mimeType: 'image/png', sizeBytes: 12 } as const),
  fc.constant({ name: 'lost.gif', mimeType: 'image/gif', sizeBytes: 12 } as const),
);

const contentOf = (mimeType: FileContent['mimeType'], bytes: Buffer): FileContent => ({
  name: 'a file',
  mimeType,
  sizeBytes: bytes.length,
  base64: bytes.toString('base64'),
});

interface RandomTurn {
  asked: Omit<Extract<FileMessage, { role: 'user' }>, 'role' | 'files'> & { files: FileContent[] };
  answers: { answer: Omit<Extract<FileMessage, { role: 'assistant' }>, 'role' | 'toolCalls'>; calls: RandomCall[] }[];
}

interface RandomCall {
  id: string;
  name: string;
  arguments: string;
  result: Omit<Extract<FileMessage, { role: 'tool' }>, 'role' | 'callId' | 'name'>;
}

const call = fc.record({
  id: fc.uuid(),
  name: fc.constantFrom('bash', 'read_file'),
  arguments: text,
  result: fc
    .record({
      createdMs,
      output: text,
      outcome,
      exitCode: optional(fc.integer()),
      durationMs: optional(fc.nat()),
      notSandboxed: optional(text),
      notice: optional(text),
      wholeBytes: optional(fc.nat()),
    })
    .map(without),
});

const turn: fc.Arbitrary<RandomTurn> = fc.record({
  asked: fc
    .record({
      createdMs,
      content: text,
      files: fc.array(file, { maxLength: 3 }),
      failed: optional(fc.constant({ code: 'refused', text: 'no' } as const)),
    })
    .map(without),
  answers: fc.array(
    fc.record({
      answer: fc
        .record({ createdMs, content: text, reasoning: optional(text), partial: optional(fc.boolean()) })
        .map(without),
      calls: fc.array(call, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
});

const note = fc.oneof(
  fc.record({ kind: fc.constant('error' as const), createdMs, message: text }),
  fc
    .record({
      kind: fc.constant('info' as const),
      createdMs,
      message: text,
      level: optional(fc.constant('warning' as const)),
    })
    .map(without),
  fc.record({
    kind: fc.constant('decision' as const),
    createdMs,
    question: fc.constantFrom('tools' as const, 'outcome' as const),
    calls: fc.array(fc.record({ callId: text, name: text }), { maxLength: 2 }),
    approved: fc.boolean(),
    always: fc.boolean(),
    feedback: text,
    by: fc.constantFrom('principal' as const, 'timeout' as const, 'cancel' as const, 'policy' as const),
  }),
);

/** Any conversation that can be exported. */
export const conversation = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 6 }),
    notes: fc.array(fc.tuple(fc.nat(), note), { maxLength: 6 }),
    settings: fc
      .record({
        name: optional(fc.constantFrom('garden', 'the other one')),
        title: optional(fc.constantFrom('Plan', 'A title')),
        model: optional(fc.constant('other')),
        thinkingLevel: optional(fc.constantFrom('off' as const, 'high' as const)),
        verboseLevel: optional(fc.constantFrom('on' as const)),
      })
      .map(without),
  })
  .map(({ turns, notes, settings }): ConversationFile => {
    const files: FileContent[] = [];
    const messages = turns.flatMap((each) => toMessages(each, files));
    const placed = notes
      .map(([place, each]): FileNote => ({ ...each, after: place % (messages.length + 1) }))
      .sort((a, b) => a.after - b.after);
    return without({ format: 'headgate-conversation', version: 1, ...settings, messages, notes: placed, files });
  });

function toMessages({ asked, answers }: RandomTurn, files: FileContent[]): FileMessage[] {
  const { files: own, ...rest } = asked;
  const first = files.length;
  files.push(...own);
  const places = own.map((_, index) => first + index);
  return [
    { role: 'user', ...rest, ...(places.length > 0 && { files: places }) },
    ...answers.flatMap(({ answer, calls }): FileMessage[] => [
      { role: 'assistant', ...answer, toolCalls: calls.map(({ result: _, ...one }) => one) },
      ...calls.map(({ id: callId, name, result }): FileMessage => ({ role: 'tool', callId, name, ...result })),
    ]),
  ];
}
