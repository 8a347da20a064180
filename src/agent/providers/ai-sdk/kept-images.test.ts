import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attachment } from '../../../../protocol/stream-events.ts';
import type { AttachedContent } from '../../attached-content.ts';
import type { Message } from '../../message.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import { createImageGate } from './kept-images.ts';

const attachment = (id: string, kind: Attachment['kind'] = 'image'): Attachment => ({
  ...{ attachment_id: id, filename: `${id}.x`, mime_type: 'image/png', size_bytes: 1, kind },
});
const IMAGE: AttachedContent = { kind: 'image', bytes: Buffer.from('png') };
const TEXT: AttachedContent = { kind: 'text', text: 'a b' };
const FULL: AttachedContent = { kind: 'absent', why: 'newer attachments took the room of one request' };
const asked = (...attachments: Attachment[]): Message => ({ role: 'user', content: 'look', attachments });

const request = (messages: Message[], contents: Record<string, AttachedContent> = {}): ModelRequest => ({
  ...{ system: '', messages, tools: [], effort: 'low', typedByPerson: true },
  attachments: new Map(Object.entries(contents)),
});
const refusal = new ProviderError('refused', 'no images here');

test('what a server has refused once is kept from it ever after, and what comes later is not', () => {
  const gate = createImageGate({ takesImages: true });
  const first = request([asked(attachment('cat'))], { cat: IMAGE });
  const { keepsBack } = gate.attaching(first);
  const before = keepsBack('cat');
  const retries = [gate.mayRetry(refusal, first), gate.mayRetry(refusal, first)];
  assert.deepEqual(
    { before, retries, cat: keepsBack('cat'), dog: keepsBack('dog') },
    {
      before: undefined,
      retries: [true, false],
      cat: 'the model’s server refused the request that held it',
      dog: undefined,
    },
  );
});

test('a request is asked again only where its images may be why it was refused', () => {
  const gate = createImageGate({ takesImages: true });
  const withImage = request([asked(attachment('cat'))], { cat: IMAGE });
  const without = request([asked(attachment('notes', 'text'))], { notes: TEXT, old: FULL });
  assert.deepEqual(
    {
      noImage: gate.mayRetry(refusal, without),
      nothing: gate.mayRetry(refusal, { ...without, attachments: undefined } as never),
      unreachable: gate.mayRetry(new ProviderError('unreachable', 'gone'), withImage),
      another: gate.mayRetry(new Error('refused'), withImage),
      takesNone: createImageGate({ takesImages: false }).mayRetry(refusal, withImage),
    },
    { noImage: false, nothing: false, unreachable: false, another: false, takesNone: false },
  );
  assert.equal(gate.attaching(withImage).keepsBack('cat'), undefined);
});

test('a person reads which files of the last message the model was not shown, by reason', () => {
  const gate = createImageGate({ takesImages: false });
  const files = [
    attachment('cat'),
    attachment('notes', 'text'),
    attachment('dog'),
    attachment('old'),
    attachment('lost'),
  ];
  const contents = { cat: IMAGE, notes: TEXT, dog: IMAGE, old: FULL };
  assert.equal(
    gate.warning(request([asked(...files)], contents)),
    'Warning: the model was not shown cat.x, dog.x: this model takes no images; ' +
      'old.x: newer attachments took the room of one request; lost.x: its file is gone or damaged.',
  );
});

test('nobody is warned of what was shown, nor again of earlier messages', () => {
  const gate = createImageGate({ takesImages: true });
  const shown = request([asked(attachment('old')), asked(attachment('cat'), attachment('notes', 'text'))], {
    ...{ old: FULL, cat: IMAGE, notes: TEXT },
  });
  const later = request([asked(attachment('old')), { role: 'user', content: 'and?' }], { old: FULL });
  assert.deepEqual(
    [gate.warning(shown), gate.warning(later), gate.warning(request([]))],
    [undefined, undefined, undefined],
  );
});
