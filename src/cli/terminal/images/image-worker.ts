import { parentPort, workerData } from 'node:worker_threads';
import type { WorkerTask } from './draw-image.ts';
import { toImageRows } from './image-rows.ts';
import { readImage } from './read-image.ts';

const { bytes, graphics, room, webp }: WorkerTask = workerData;
const pixels = await readImage(bytes, new URL(webp));
parentPort?.postMessage(pixels && toImageRows(pixels, graphics, room));
