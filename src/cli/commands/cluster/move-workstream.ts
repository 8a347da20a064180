import type { Surroundings } from '../../../home/home-path.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { locateWorkstream } from '../../find-workstream.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import type { ClusterFlags } from './show-cluster.ts';

interface MoveCommand {
  flags: ClusterFlags & TargetFlags;
  around: Surroundings;
  root: URL;
  /** As a person names it. */
  workstream: string;
  /** The id of the machine that gets it. */
  node: string;
}

/** Moves a workstream to another machine. */
export async function moveWorkstream({ flags, around, root, workstream, node }: MoveCommand): Promise<void> {
  const target = await resolveTarget(flags, around);
  const moved = await withClient({ target, version: await readVersion(root) }, async (client) => {
    const wsId = await locateWorkstream(client, workstream);
    return { wsId, ...(await client.call('cluster.move', { wsId, nodeId: node })) };
  });
  const { nodeId, moved: isNew } = moved;
  process.stdout.write(
    flags.json
      ? `${JSON.stringify(moved, null, 2)}\n`
      : isNew
        ? `Moved to ${toSafeText(nodeId)}.\n`
        : `${toSafeText(nodeId)} has it already.\n`,
  );
}
