import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toPromptContent } from './prompt-content.ts';

test('links become paths, and images and embedded texts become files', async () => {
  const { message, files } = toPromptContent([
    { type: 'text', text: 'Look at ' },
    { type: 'resource_link', name: 'a.ts', uri: 'file:///w/my%20src/a.ts#L3:9' },
    { type: 'text', text: ' and ' },
    { type: 'resource', resource: { uri: 'file:///w/b.txt', text: 'inside' } },
    { type: 'image', data: Buffer.from('GIF89a').toString('base64'), mimeType: 'image/gif' },
    { type: 'resource_link', name: 'page', uri: 'https://example.org/x' },
  ]);
  assert.equal(message, 'Look at /w/my src/a.ts (L3:9) and /w/b.txt  https://example.org/x');
  assert.deepEqual(await Promise.all(files.map(async (file) => [file.name, await file.text()])), [
    ['b.txt', 'inside'],
    ['image-2', 'GIF89a'],
  ]);
});

test('audio, too many files and an empty prompt are refused with the reason', () => {
  assert.throws(() => toPromptContent([{ type: 'audio', data: '', mimeType: 'audio/wav' }]), /audio cannot be sent/);
  const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' } as const;
  assert.throws(() => toPromptContent(Array.from({ length: 11 }, () => image)), /at most 10 images/);
  assert.throws(() => toPromptContent([{ type: 'text', text: ' \n' }]), /The prompt is empty/);
});
