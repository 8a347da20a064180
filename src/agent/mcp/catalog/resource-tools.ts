import { z } from 'zod';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { Tool } from '../../tools/tool.ts';
import { readResource } from '../call-result.ts';
import { type AnnouncedResource, CONTROLS } from './announced-lists.ts';
import { askServer } from './ask-server.ts';
import { createListTool, noSuchServer } from './list-tool.ts';
import type { CatalogDeps } from './offering-server.ts';

const ReadArguments = z.strictObject({
  server: z.string().min(1).max(64).describe('The tool server, as list_resources names it'),
  uri: z.string().min(1).max(4_096).describe('The address of the resource, with the variables of a template filled in'),
});

/** `list_resources` and `read_resource`: data of servers, such as documents and records. */
export const createResourceTools = (from: CatalogDeps): Tool[] => [
  createListTool(
    {
      name: 'list_resources',
      description:
        'Lists resources of the connected tool servers (documents, records and other data) with their addresses, and templates of addresses. Use read_resource to read one.',
      what: 'resources',
      lines: ({ resources }) => resources.map(toLine),
    },
    from,
  ),
  createReadTool(from),
];

const toLine = ({ uri, isTemplate, name, description, mimeType }: AnnouncedResource): string =>
  [isTemplate ? `${uri} (a template)` : uri, name, mimeType, toVisibleLine(description)].filter(Boolean).join('  ');

/** The address is a name of the server, whatever it looks like: only the server opens it. */
const createReadTool = ({ servers, deps }: CatalogDeps): Tool<z.infer<typeof ReadArguments>> => ({
  name: 'read_resource',
  description: 'Reads a resource of a tool server, as list_resources or a tool has named it.',
  parameters: ReadArguments,
  readOnly: false,
  safeToRepeat: false,
  async prepare({ server: name, uri }, { wsId, callId }) {
    const all = servers('resources');
    const server = all.find((one) => one.name === name);
    if (!server) return { kind: 'refused', subject: uri, reason: noSuchServer('resources', name, all) };
    if (CONTROLS.test(uri))
      return { kind: 'refused', subject: uri, reason: 'The address contains control characters.' };
    const request = { method: 'resources/read' as const, params: { uri }, read: readResource, wsId, callId };
    return askServer(server, { ...request, subject: uri, preview: `${uri}\nof ${name}`, label: 'read_resource' }, deps);
  },
});
