import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { asyncApiDocument } from '../protocol/asyncapi.ts';
import { jsonSchemaDocument, openApiDocument } from '../protocol/documents.ts';

// Writes the documents that derive from the protocol's rows; a test compares them.
const folder = new URL('../protocol/generated/', import.meta.url);
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
await mkdir(folder, { recursive: true });
for (const [name, document] of [
  ['schema.json', jsonSchemaDocument()],
  ['openapi.json', openApiDocument(version)],
  ['asyncapi.json', asyncApiDocument(version)],
] as const)
  await writeFile(new URL(name, folder), `${JSON.stringify(document, null, 2)}\n`);
