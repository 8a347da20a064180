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
const FULL: AttachedContent = { kind: 'absent', why: 'newer attachments filled the request' };
const asked = (...attachments: Attachment[]): Message => ({ role: 'user', content: 'look', attachments });

const request = (messages: Message[], contents: Record<string, AttachedContent> = {}): ModelRequest => ({
  ...{ system: '', messages, tools: [], effort: 'low', typedByPerson: true },
  attachments: new Map(Object.entries(contents)),
});
const refusal = new ProviderError('refused', 'no images here');

test('images that a server refused are never sent to it again; later images are', () => {
  const gate = createImageGate({ takesImages: true });
  const first = request([asked(attachment('cat'))], { cat: IMAGE });
  const { keepsBack } = gate.attaching(first);
  const before = keepsBack('cat');
  const retries = [gate.holdBack(refusal, first) !== undefined, gate.holdBack(refusal, first) !== undefined];
  assert.deepEqual(
    { before, retries, cat: keepsBack('cat'), dog: keepsBack('dog') },
    {
      before: undefined,
      retries: [true, false],
      cat: 'the model’s server refused a request with it',
      dog: undefined,
    },
  );
});

test('a refused request is retried only if its images may be the reason', () => {
  const gate = createImageGate({ takesImages: true });
  const withImage = request([asked(attachment('cat'))], { cat: IMAGE });
  const without = request([asked(attachment('notes', 'text'))], { notes: TEXT, old: FULL });
  assert.deepEqual(
    {
      noImage: gate.holdBack(refusal, without),
      nothing: gate.holdBack(refusal, { ...without, attachments: undefined } as never),
      unreachable: gate.holdBack(new ProviderError('unreachable', 'gone'), withImage),
      another: gate.holdBack(new Error('refused'), withImage),
      tooLong: gate.holdBack(new ProviderError('refused', 'no', { refusal: { about: 'window' } }), withImage),
      schema: gate.holdBack(new ProviderError('refused', 'no', { refusal: { about: 'schema' } }), withImage),
      takesNone: createImageGate({ takesImages: false }).holdBack(refusal, withImage),
    },
    {
      ...{ noImage: undefined, nothing: undefined, unreachable: undefined, another: undefined },
      ...{ tooLong: undefined, schema: undefined, takesNone: undefined },
    },
  );
  assert.equal(gate.attaching(withImage).keepsBack('cat'), undefined);
});

test('images that were not the reason of a refusal are sent again', () => {
  const gate = createImageGate({ takesImages: true });
  const asking = request([asked(attachment('cat'))], { cat: IMAGE });
  gate.holdBack(new ProviderError('refused', 'no', { refusal: { about: 'image' } }), asking)?.();
  assert.equal(gate.attaching(asking).keepsBack('cat'), undefined);
});

test('a warning lists the files of the last message that the model did not receive, by reason', () => {
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
    'Warning: the model did not receive cat.x, dog.x: this model does not accept images; ' +
      'old.x: newer attachments filled the request; lost.x: its file is gone or damaged.',
  );
});

test('there is no warning for files that were sent, nor for earlier messages', () => {
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
