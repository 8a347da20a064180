import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { asyncApiDocument } from '../protocol/documents/asyncapi.ts';
import { boundsTable } from '../protocol/documents/bounds.ts';
import { jsonSchemaDocument, openApiDocument } from '../protocol/documents/documents.ts';

// Writes the documents that are generated from the protocol's rows; a test compares them.
const folder = new URL('../protocol/generated/', import.meta.url);
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
await mkdir(folder, { recursive: true });
// One space per level: they are part of the package, and a third of them was indentation.
for (const [name, document] of [
  ['schema.json', jsonSchemaDocument()],
  ['openapi.json', openApiDocument(version)],
  ['asyncapi.json', asyncApiDocument(version)],
] as const)
  await writeFile(new URL(name, folder), `${JSON.stringify(document, null, 1)}\n`);

// PROTOCOL.md has one generated part.
const page = new URL('../PROTOCOL.md', import.meta.url);
const text = await readFile(page, 'utf8');
const marked = /(<!-- bounds: [^\n]*-->\n)[\s\S]*(<!-- end of bounds -->)/;
await writeFile(
  page,
  text.replace(marked, (_, begin, end) => `${begin}\n${boundsTable()}\n\n${end}`),
);
