/** The tools that only coordinators have. */
export const COORDINATOR_TOOLS = [
  'spawn_workstream',
  'spawn_batch',
  'list_workstreams',
  'inspect_workstream',
  'send_to_workstream',
  'wait_for_workstream',
  'cancel_workstream',
  'close_workstream',
  'close_all_children',
  'delete_workstream',
  'list_nodes',
  'tasks',
] as const;
/** The name of one of them. */
export type CoordinatorTool = (typeof COORDINATOR_TOOLS)[number];
