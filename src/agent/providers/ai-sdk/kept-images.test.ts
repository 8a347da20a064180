import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attachment } from '../../../../protocol/stream-events.ts';
import type { AttachedContent } from '../../attached-content.ts';
import type { AnsweredImages, Message } from '../../message.ts';
import { type ModelRequest, ProviderError } from '../model.ts';
import type { Refusal } from '../refusals/refusal.ts';
import { gateImages } from './kept-images.ts';

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
const MODEL = { modelId: 'm', takesImages: true };
const refusedFor = (refusal?: Refusal) => new ProviderError('refused', 'no images here', { refusal });
const answered = (images: AnsweredImages): Message => ({ role: 'assistant', content: 'ok', toolCalls: [], images });
const REFUSED = 'the model’s server refused a request with it';

test('images that a server refused are never sent to it again; later images and other models get theirs', () => {
  const messages = [asked(attachment('cat')), answered({ model: 'm', withheld: ['cat'] }), asked(attachment('dog'))];
  const asking = request(messages, { cat: IMAGE, dog: IMAGE });
  const whyNot = (modelId: string) =>
    ['cat', 'dog'].map(gateImages(asking, { ...MODEL, modelId }).opening().attaching.keepsBack);
  assert.deepEqual(
    [whyNot('m'), whyNot('other')],
    [
      [REFUSED, undefined],
      [undefined, undefined],
    ],
  );
});

test('only images that the model has not answered with are suspected, even if its server names an image', () => {
  const messages = [asked(attachment('cat')), answered({ model: 'm' }), asked(attachment('dog'), attachment('ant'))];
  const gate = gateImages(request(messages, { dog: IMAGE, ant: IMAGE, cat: IMAGE }), MODEL);
  const unknown = gate.suspectsOf(refusedFor());
  const named = gate.suspectsOf(refusedFor({ about: 'image' }));
  assert.deepEqual({ unknown, named }, { unknown: ['dog', 'ant'], named: ['dog', 'ant'] });
  const { attaching, answered: stored } = gate.opening(unknown);
  assert.deepEqual(['cat', 'dog', 'ant'].map(attaching.keepsBack), [undefined, REFUSED, REFUSED]);
  assert.deepEqual(stored, { model: 'm', withheld: ['dog', 'ant'] });
});

test('images without suspicion are not blamed: other errors, no images, or all of them known', () => {
  const withImage = request([asked(attachment('cat'))], { cat: IMAGE });
  const without = request([asked(attachment('notes', 'text'))], { notes: TEXT, old: FULL });
  const known = request([asked(attachment('cat')), answered({ model: 'm' }), asked()], { cat: IMAGE });
  const suspects = [
    gateImages(without, MODEL).suspectsOf(refusedFor()),
    gateImages({ messages: [] }, MODEL).suspectsOf(refusedFor()),
    gateImages(withImage, MODEL).suspectsOf(new ProviderError('unreachable', 'gone')),
    gateImages(withImage, MODEL).suspectsOf(new Error('refused')),
    gateImages(withImage, MODEL).suspectsOf(new ProviderError('refused', 'no such model', { detail: 'no_model' })),
    gateImages(withImage, MODEL).suspectsOf(refusedFor({ about: 'window' })),
    gateImages(withImage, MODEL).suspectsOf(refusedFor({ about: 'schema' })),
    gateImages(withImage, { ...MODEL, takesImages: false }).suspectsOf(refusedFor()),
    gateImages(known, MODEL).suspectsOf(refusedFor()),
    gateImages(known, MODEL).suspectsOf(refusedFor({ about: 'image' })),
  ];
  assert.deepEqual(suspects.flat(), []);
});

test('an answer says that its model has seen the images, once', () => {
  const first = request([asked(attachment('cat'))], { cat: IMAGE });
  const later = request([asked(attachment('cat')), answered({ model: 'm' }), asked()], { cat: IMAGE });
  assert.deepEqual(
    [first, later].map((asking) => gateImages(asking, MODEL).opening().answered),
    [{ model: 'm' }, undefined],
  );
});

test('a warning lists the files of the last message that the model did not receive, by reason', () => {
  const files = [
    attachment('cat'),
    attachment('notes', 'text'),
    attachment('dog'),
    attachment('old'),
    attachment('lost'),
  ];
  const contents = { cat: IMAGE, notes: TEXT, dog: IMAGE, old: FULL };
  const gate = gateImages(request([asked(...files)], contents), { ...MODEL, takesImages: false });
  assert.equal(
    gate.opening().warning,
    'Warning: the model did not receive cat.x, dog.x: this model does not accept images; ' +
      'old.x: newer attachments filled the request; lost.x: its file is gone or damaged.',
  );
});

test('a warning lists images of earlier messages if they are left out from now on', () => {
  const messages = [asked(attachment('cat'), attachment('notes', 'text')), asked(attachment('dog'))];
  const gate = gateImages(request(messages, { cat: IMAGE, notes: TEXT, dog: IMAGE }), MODEL);
  assert.deepEqual(
    [gate.opening().warning, gate.opening(gate.suspectsOf(refusedFor())).warning],
    [undefined, `Warning: the model did not receive cat.x, dog.x: ${REFUSED}.`],
  );
});

test('there is no warning about files that left with a cut', () => {
  const [cat, notes] = [attachment('cat'), attachment('notes', 'text')];
  const after = (unseen: 'all' | 'images'): Message => ({
    ...{ role: 'user', content: 'look', attachments: [cat, notes], unseen },
  });
  assert.deepEqual(
    [request([after('all')]), request([after('images')], { notes: TEXT })].map(
      (asking) => gateImages(asking, MODEL).opening().warning,
    ),
    [undefined, undefined],
  );
});

test('there is no warning for files that were sent, nor for earlier messages', () => {
  const shown = request([asked(attachment('old')), asked(attachment('cat'), attachment('notes', 'text'))], {
    ...{ old: FULL, cat: IMAGE, notes: TEXT },
  });
  const later = request([asked(attachment('old')), { role: 'user', content: 'and?' }], { old: FULL });
  assert.deepEqual(
    [shown, later, request([])].map((asking) => gateImages(asking, MODEL).opening().warning),
    [undefined, undefined, undefined],
  );
});
