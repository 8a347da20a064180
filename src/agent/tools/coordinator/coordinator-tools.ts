import type { Tool } from '../tool.ts';
import { cancelTool, closeAllTool, closeTool, deleteTool } from './end.ts';
import { inspectTool, listTool, nodesTool } from './look-at-workstreams.ts';
import { sendTool } from './send.ts';
import { spawnBatchTool, spawnTool } from './spawn.ts';
import { tasksTool } from './tasks.ts';
import { waitTool } from './wait.ts';

/** The tools that coordinators have in addition to all others. */
export const coordinatorTools = (): Tool[] => [
  spawnTool,
  spawnBatchTool,
  listTool,
  inspectTool,
  sendTool,
  waitTool,
  cancelTool,
  closeTool,
  closeAllTool,
  deleteTool,
  nodesTool,
  tasksTool,
];
