import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from '../../../protocol/limits.ts';
import { decodeInline } from './inline.ts';

const gif = (size = 8) => Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(size - 6)]).toString('base64');

test('an image gets its type from its bytes, and a name that cannot be a path', () => {
  const [image] = decodeInline([{ mimeType: 'image/png', fileName: '../../etc/cat\u202e.gif', content: gif() }]);
  assert.deepEqual([image?.mimeType, image?.fileName], ['image/gif', 'cat.gif']);
  assert.equal(decodeInline([{ content: gif() }])[0]?.fileName, 'image');
});

test('several images that are only too large together are refused', () => {
  const half = { content: gif(LIMITS.inlineAttachmentBytes / 2) };
  assert.equal(decodeInline([half, half]).length, 2);
  assert.throws(() => decodeInline([half, half, { content: gif() }]), {
    code: 'INVALID_REQUEST',
    message: /^attachments: together they exceed the size limit \(737280 bytes\); upload larger ones with POST /,
  });
});

test('a refused image is named by its file name, type or position', () => {
  const refusal = (given: object) => {
    try {
      decodeInline([{ content: gif() }, { content: 'AAAA', ...given }]);
    } catch (error) {
      return error instanceof Error ? error.message.replace(/:.*/, '') : error;
    }
    return assert.fail('it was taken');
  };
  assert.deepEqual(
    [refusal({ fileName: 'a/b.png', type: 'image' }), refusal({ type: 'image' }), refusal({})],
    ['attachment b.png', 'attachment image', 'attachment attachment-2'],
  );
});
