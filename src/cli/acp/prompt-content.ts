import { fileURLToPath } from 'node:url';
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { LIMITS } from '../../../protocol/limits.ts';
import { wrongParams } from './told-errors.ts';

/** A prompt as the daemon takes it. */
export interface PromptContent {
  message: string;
  files: File[];
}

/**
 * The text of a prompt with the paths of what it refers to, and the images and texts that come with it, as files. Throws an
 * error for content that the daemon cannot take.
 */
export function toPromptContent(blocks: readonly ContentBlock[]): PromptContent {
  const files: File[] = [];
  const words = blocks.map((block) => toWords(block, files));
  // Editors put no text between two links that follow each other.
  const message = words
    .map((word, index) =>
      index > 0 && blocks[index]?.type !== 'text' && blocks[index - 1]?.type !== 'text' ? ` ${word}` : word,
    )
    .join('');
  if (files.length > LIMITS.attachmentsPerMessage)
    throw wrongParams(`A prompt may have at most ${LIMITS.attachmentsPerMessage} images and embedded files`);
  if (message.trim() === '' && files.length === 0) throw wrongParams('The prompt is empty');
  return { message: message.trim(), files };
}

function toWords(block: ContentBlock, files: File[]): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return toPlace(block.uri);
    case 'image':
      files.push(toFile(Buffer.from(block.data, 'base64'), nameOf(block.uri ?? '') || `image-${files.length + 1}`));
      return '';
    case 'resource': {
      const { resource } = block;
      const bytes = 'text' in resource ? Buffer.from(resource.text) : Buffer.from(resource.blob, 'base64');
      // An empty file says as much as its name.
      if (bytes.length > 0) files.push(toFile(bytes, nameOf(resource.uri) || `file-${files.length + 1}`));
      return toPlace(resource.uri);
    }
    default:
      throw wrongParams(`Content of the type ${block.type} cannot be sent: text, images and files can`);
  }
}

const toFile = (bytes: Buffer<ArrayBuffer>, name: string): File => new File([bytes], name);

/** The path of a file, with the lines that the editor names; other addresses as they are. */
function toPlace(uri: string): string {
  const lines = /#(L\d+(?::\d+|-L?\d+)?)$/.exec(uri)?.[1];
  const path = uri.startsWith('file:') ? pathOf(uri) : undefined;
  return path === undefined ? uri : `${path}${lines === undefined ? '' : ` (${lines})`}`;
}

function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri.split('#', 1)[0] ?? '');
  } catch {
    return undefined;
  }
}

const MOST_NAME_CHARS = 200;

const nameOf = (uri: string): string =>
  (pathOf(uri) ?? uri.split(/[?#]/, 1)[0] ?? '').split('/').at(-1)?.slice(-MOST_NAME_CHARS) ?? '';
