<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>ConnectionWindow</name>
    <message numerus="yes">
        <source>%n thing(s) need your attention</source>
        <translation>
            <numerusform>%n thing needs your attention</numerusform>
            <numerusform>%n things need your attention</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n check(s) done, more to come</source>
        <translation>
            <numerusform>%n check done, more to come</numerusform>
            <numerusform>%n checks done, more to come</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>FaultNotice</name>
    <message numerus="yes">
        <source>%n fault(s) in all.</source>
        <translation>
            <numerusform>%n fault in all.</numerusform>
            <numerusform>%n faults in all.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>HardwarePage</name>
    <message numerus="yes">
        <source>Processor: %n core(s).</source>
        <translation>
            <numerusform>Processor: %n core.</numerusform>
            <numerusform>Processor: %n cores.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LogDetails</name>
    <message numerus="yes">
        <source>{title}, %n line(s)</source>
        <translation>
            <numerusform>{title}, %n line</numerusform>
            <numerusform>{title}, %n lines</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LogModel</name>
    <message numerus="yes">
        <source>%n line(s) dropped</source>
        <translation>
            <numerusform>%n line dropped</numerusform>
            <numerusform>%n lines dropped</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MeshPage</name>
    <message numerus="yes">
        <source>The mesh answers. It has %n node(s) now.</source>
        <translation>
            <numerusform>The mesh answers. It has %n node now.</numerusform>
            <numerusform>The mesh answers. It has %n nodes now.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Plurals</name>
    <message numerus="yes">
        <source>%n chat(s)</source>
        <translation>
            <numerusform>%n chat</numerusform>
            <numerusform>%n chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n chat(s) now</source>
        <translation>
            <numerusform>%n chat now</numerusform>
            <numerusform>%n chats now</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n token(s)</source>
        <translation>
            <numerusform>%n token</numerusform>
            <numerusform>%n tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n reconnect(s)</source>
        <translation>
            <numerusform>%n reconnect</numerusform>
            <numerusform>%n reconnects</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hop(s)</source>
        <translation>
            <numerusform>%n hop</numerusform>
            <numerusform>%n hops</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n row(s) copied</source>
        <translation>
            <numerusform>%n row copied</numerusform>
            <numerusform>%n rows copied</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message numerus="yes">
        <source>%n found</source>
        <translation>
            <numerusform>%n found</numerusform>
            <numerusform>%n found</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StorageRow</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
</context>
</TS>
