// The style sheet of our first-party applications: desktop with a side navigation, phone with a scrolling one, light and dark by the system.
import { readStyleFile } from '../platform/style-file.ts';

export const appStyle = readStyleFile(new URL('./app-style.css', import.meta.url));
