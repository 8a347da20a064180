import type { Tool } from '../../tools/tool.ts';
import type { CatalogDeps } from './offering-server.ts';
import { createPromptTools } from './prompt-tools.ts';
import { createResourceTools } from './resource-tools.ts';

/** The tools for what servers offer besides tools. Models are told of them only where a server offers something. */
export function createCatalogTools(from: CatalogDeps): { all: Tool[]; offered(): Tool[] } {
  const resources = createResourceTools(from);
  const prompts = createPromptTools(from);
  return {
    all: [...resources, ...prompts],
    offered: () => [
      ...(from.servers('resources').length > 0 ? resources : []),
      ...(from.servers('prompts').length > 0 ? prompts : []),
    ],
  };
}
