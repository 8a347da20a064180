import { parentPort, workerData } from 'node:worker_threads';
import type { ImageTask } from './draw-image.ts';
import { toImageRows } from './image-rows.ts';

const { bytes, graphics, room }: ImageTask = workerData;
parentPort?.postMessage(await toImageRows(bytes, graphics, room));
