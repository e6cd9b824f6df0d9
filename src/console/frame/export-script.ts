// Saves a list as CSV with its progress, where scripts run: how many rows have come, of how many where the text of the link says so, and a
// button that stops it. What came is handed to the browser in pieces, and saved when it is whole: half a list is never taken for all of it.
// Anything but a CSV leaves it to the link, which saves the same file without this.

export const exportScript = `(()=>{
const a=document.getElementById('csv');if(!a||!window.ReadableStream)return;
const make=(tag,id)=>Object.assign(document.createElement(tag),{id}),number=new Intl.NumberFormat('en'),bar=make('progress','csv-progress'),told=make('span','csv-told'),halt=make('button','csv-stop'),end=make('span','csv-end');
halt.type='button';halt.className='small quiet';halt.textContent='Stop';told.className=end.className='muted';end.setAttribute('role','status');bar.style.width='8rem';bar.setAttribute('aria-label','Rows saved');a.after(end);
let now;
halt.onclick=()=>now.abort();
a.addEventListener('click',async e=>{if(e.button||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;e.preventDefault();if(now)return;
const of=Number(a.textContent.replace(/\\D/g,'')),control=now=new AbortController();let rows=0,lines=0,quoted=false,parts=[];
end.textContent='';told.textContent='Getting ready';bar.removeAttribute('value');if(of)bar.max=of;end.before(bar,told,halt);
try{const r=await fetch(a.href,{signal:control.signal}),name=/filename="([^"]+)"/.exec(r.headers.get('content-disposition')||'');
if(!r.ok||!name){location.href=a.href;return}
const reader=r.body.getReader();
for(;;){const{done,value}=await reader.read();if(done)break;
for(const byte of value){if(byte===34)quoted=!quoted;else if(byte===10&&!quoted)lines++}
rows=Math.max(0,lines-1);parts.push(value);if(parts.length>99)parts=[new Blob(parts)];
told.textContent=number.format(rows)+(of?' of '+number.format(of):'');if(of)bar.value=Math.min(rows,of)}
const url=URL.createObjectURL(new Blob(parts,{type:'text/csv'})),file=make('a','');file.href=url;file.download=name[1];file.click();setTimeout(()=>URL.revokeObjectURL(url),60000);
end.textContent=number.format(rows)+(rows===1?' row':' rows')+' saved'}
catch{end.textContent=control.signal.aborted?'Stopped. Nothing was saved.':'It broke off after '+number.format(rows)+' rows. Nothing was saved.'}
finally{now=undefined;bar.remove();told.remove();halt.remove()}})})();`;
