// The folder of throng.js that the tests drive: the sources, or an installed package (THRONG_JS).
import { pathToFileURL } from "node:url";

const { THRONG_JS } = process.env;
export const library = THRONG_JS ? pathToFileURL(`${THRONG_JS}/`) : new URL("../../../Sources/Clients/js/", import.meta.url);
